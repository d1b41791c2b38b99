"""Stems for the check that a stem leads with something seen or heard, written before its words were.

The word lists were tuned on ``TUNED``; ``APART`` was looked at once, for the figures in the docs.
"""

_GOOD = """
As the camera pulls slowly back from the empty chair, what does the widening space make the viewer feel about the man who left?
A single red lamp glows in the corner while the rest of the room stays black; why is the light kept so small?
The low hum under the dialogue stops just before the door opens. What does the sudden silence prepare?
When the dancer freezes beneath the cold blue spotlight, which effect does the stillness have on the crowd around her?
Thick yellow paint stands up from the canvas in short curved strokes, so that the sky seems to move: what is this meant to convey?
In the shot where two figures stand at opposite edges of a wide frame, what does the gap between them express?
Footsteps echo louder and louder along a tiled corridor while the picture stays on a closed door. Which purpose does this serve?
The actor turns her back to the audience and lets her shoulders drop before she speaks; how does this change the line that follows?
A health bar shrinks at the edge of the screen as the music doubles its tempo. What is the player meant to feel?
After the torch goes out, only the wet stones of the tunnel reflect a faint green glow; how does this guide whoever is walking there?
Rapid cuts alternate between a ticking clock and a sweating face. What do they do to the sense of time?
The photograph leaves the child's eyes sharp and everything behind them blurred; why was so little kept in focus?
With the wooden platform tilted toward the front row, the singers have to lean back to stand upright. What does the slope suggest?
While rain hammers on the roof, the two brothers whisper with their faces almost touching; which intent lies behind the framing?
A bright doorway at the far end of a dark hall is the only thing that is lit. How does it steer the player without any words?
The same three piano notes return each time the woman looks out of the window: what link do they build?
Seen from below, the statue's raised arm cuts across the white sky. What does the low angle lend to it?
The curtain rises on a bare stage with one bed, and nobody enters for a long while. What is this waiting for?
Blue tones give way to warm orange as the couple walks into the kitchen; which shift in mood does the colour carry?
The character's cape drags behind him and leaves a trail in the snow, and the camera stays on the trail. Why?
Handheld images shake as the crowd runs past, and then a locked-off wide view follows. What does the contrast do?
A comedian stops in mid-sentence, sips his water and stares at the first row until someone laughs: what does the pause achieve?
The marble surface of the veil is so thin that the face seems to breathe under it. Which effect was the sculptor after?
Violins hold one trembling chord while the boy's hand hovers over the handle. What does the sustained sound withhold?
Every wall of the level leans slightly inward, and the path grows narrower with each turn; how does this shape the player's fear?
In a close-up, a tear runs along the nose of the woman and the background dissolves into grey. What is gained by leaving the place unseen?
Two beams of white light cross above the kneeling man, and dust floats through them; why is nothing else lit?
The poster shows a tiny boat below an enormous wave drawn with hooked white fingers. How does the scale work on the viewer?
A long take follows the waiter through the swinging doors and past the stoves without a cut. What does the unbroken movement make us share?
The crowd's cheering is muffled as if heard under water while the boxer's mouth opens. Which state of mind does the sound put us in?
Grey towers fill the screen from edge to edge with no horizon in sight; what does the composition say about those who live there?
She slams the drawer, and the film jumps to a drum being struck. Why join these two sounds?
The puppeteers in black stay visible behind the horse as it lifts its head: what is the audience asked to accept?
Bullets shatter the vase in slow motion, petals drifting through the smoke. What does slowing it down turn the violence into?
The enemy's chest flashes orange for an instant before it strikes; how does the design teach the player what to do?
On the left half of the picture a woman kneels in shadow, on the right a man in gold stands in full sun; which judgement does the division pass?
The tramp's cane bends under him and springs back as he bows. How does the prop carry the joke?
A flute plays alone over a shot of the burnt field. What does the thin sound add that an orchestra could not?
The ballerina lands without a noise, and the next step is stamped hard into the floorboards; what does this difference tell about her?
Letters typed in white flicker on a black screen before any picture appears. Which expectation do they set?
The photographer places the old farmer in front of a plain white sheet, hands folded. What is removed from him by that?
Fog hides all but the nearest trees as the rider's lantern swings from side to side; what does the limited sight do to the pace of exploring?
The scene begins upside down and turns slowly until the hanged mirror is level. What does the rotation announce?
A mother's lullaby is hummed off screen while the camera stays on the open crib. How does the unseen source work?
Broken glass crunches beneath the hero's boots at each step, even when the music swells. Why keep that noise so clear?
The chorus moves as one, arms locked, until a single girl in yellow steps out of line: what does her step mean?
Half of the face is lit and half of it vanishes into black; which conflict does the light draw?
As the elevator sinks, the windows show level after level of rusted machines. What is told here without dialogue?
"""

_BAD = """
What is the design intent behind this work?
How does the director convey the theme of grief in the film?
Why is the boss fight considered a masterpiece of game design?
Which of the following best describes the artistic philosophy of the piece?
In terms of narrative structure, what does the work accomplish?
Considering the creator's overall vision, how is meaning constructed?
In this scene, why does the filmmaker make this choice?
The film explores memory and loss. How does it do so?
From the perspective of semiotics, which strategy underlies the mise-en-scène?
What does the slow zoom onto the trembling hand express?
When analysing the emotional arc of the story, which principle matters most?
According to the theory discussed, what makes tragedy effective?
How does the use of colour reflect the inner state of the character?
In the context of post-war modernism, what does the artist want to say?
The artist is famous for challenging conventions; which convention is challenged here?
Why do designers prefer subtle guidance to explicit tutorials?
As the story unfolds, what is the function of the second act?
In this video, what is the main idea about performance?
The notion of agency is central to interactive media. How is it realised?
Given the historical background of the play, why was it controversial?
What role does silence play in building tension?
In this clip, what technique is used and for what purpose?
Throughout the work, how is the idea of freedom expressed?
Which statement about the composition is correct?
The intention behind this sequence is often debated. Which reading is best supported?
By means of careful planning, what did the production achieve?
Based on the analysis, why is the ending ambiguous?
As an example of expressive storytelling, what does the sequence demonstrate?
For audiences at the time, what was the significance of the performance?
In modern photography, why is authenticity so important?
With regard to genre expectations, how does the game subvert them?
The concept of the sublime is essential to Romantic thought. What evokes it?
When thinking about character development, which method is most effective?
Beyond its technical brilliance, what does the piece communicate about society?
Why does the lighting change when the woman enters the room?
In the first part, how does the author establish trust?
Through its innovative approach, what does the exhibition criticise?
Taking the themes of isolation and identity into account, which interpretation is the most convincing?
As a metaphor for capitalism, how should the sequence be understood?
The choreographer's method relies on improvisation. Which aim does this serve?
To understand the scene's meaning, what must one take into account?
In the moment shown, what is the creator trying to say?
How would you characterise the relationship between form and content?
The work is a commentary on consumerism; in what way?
At this point in the story, why does the hero's motivation change?
Unlike earlier adaptations, which feature makes this version distinctive?
Reflecting the director's personal history, what does the motif stand for?
Since the genre depends on suspense, which choice is unusual here?
The use of light and shadow is central to the director's style. What does it stand for?
Colour and composition work together in this painting; how do they create meaning?
Music and editing shape the mood of the scene. Which effect do they have?
The camera work in this sequence is remarkable; why was it chosen?
Sound design plays a crucial role in horror games. How does it work here?
The lighting is an important element of the staging; what does it contribute?
Costumes and props reveal a lot about characters in the theatre. Which of them matters here?
The level design encourages curiosity and exploration; what is its main idea?
Framing and editing are used to express the theme of isolation: which reading is right?
The performance relies on voice and gesture to build a character. What does it achieve?
Perspective and colour theory inform the composition as a whole; which principle is applied?
The soundtrack supports the narrative in many ways. What is its purpose in this part?
"""


def _halves(text: str) -> tuple[list[str], list[str]]:
    stems = text.strip().splitlines()
    return stems[::2], stems[1::2]


GOOD, GOOD_APART = _halves(_GOOD)
BAD, BAD_APART = _halves(_BAD)
TUNED, APART = (GOOD, BAD), (GOOD_APART, BAD_APART)
