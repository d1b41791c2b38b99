"""Attempts to slip a name past the check, and harmless texts, written after it and tried once."""

from reelbench.make.parts.names import names_in

TITLES = ("The Quiet Violence of Blade Runner | Deckard's City", "Lumen Essays")
TEXTS = (
    "When Deckard walks into the Bradbury Building, the light does something odd. Roy Batty waits. "
    "Ridley Scott and his cinematographer, Jordan Cronenweth, push shafts of light through smoke. "
    "Rachael sits in a chair. You never see where Rachael looks. Los Angeles is always wet here. "
    "In Metropolis, Fritz Lang did the same with towers. The Tyrell pyramid glows. What does Roy "
    "want? I would say that Roy wants time. Vangelis wrote the score, and Vangelis knew silence. "
    "Hope is rare in this film; Pris hopes, Sebastian does not. May it rain for ever.",
    "Chapters:\n00:00 Intro\n01:20 Light And Smoke\n04:10 The Eye\nMusic by Epidemic Sound.",
)
NAMES = names_in(TITLES, TEXTS)

SLIPPED = (
    "As Deckard walks through smoke, what does the light do?",
    "Deckard's coat is soaked by the rain; what does it tell?",
    "deckard stands under a lamp; why is his face dark?",
    "DECKARD stands under a lamp; why is his face dark?",
    "As D e c k a r d walks, what glows behind him?",
    "As Deck\u00adard walks, what glows behind him?",
    "As Dеckard walks, what glows behind him?",
    "Rachael turns her head; what does the shadow hide?",
    "rachael's face is half dark; what does it hide?",
    "Roy stands in the rain; what does the dove mean?",
    "A man in the style of Roy Batty kneels; why?",
    "roy batty kneels in the rain; why?",
    "Blade Runner fans know this lamp; what is it for?",
    "As in blade runner, neon glows through rain; why?",
    "Bladerunner neon glows through rain; why?",
    "Smoke fills the hall of the Bradbury Building; why?",
    "The bradbury building fills with smoke; why?",
    "Neon glows over los angeles while rain falls; why?",
    "Vangelis holds one low chord; what does it do?",
    "A vangelis-like drone swells; what does it do?",
    "The Langian towers rise into fog; why so high?",
    "Metropolis rises out of fog; why so high?",
    "The Tyrells' pyramid glows; what does gold stand for?",
    "Pris hides among dolls; what do the dolls do?",
    "Sebastian opens the lift; what does its cage mean?",
    "Ridley holds the shot of the eye; what for?",
    "ridley scott holds the shot of the eye; what for?",
    "As Gaff folds a paper bird, what is heard?",
    "Gaff folds a paper bird; what is heard?",
    "A woman named Zhora runs through glass; why?",
    "The neon of Chinatown glows; what does it promise?",
    "Harrison's face is lit from below; why?",
    "A giant Coca-Cola sign glows above; why?",
    "The replicants' eyes glow like those of HAL; why?",
)
HARMLESS = (
    "As smoke drifts through the shafts of light, what does the hall become?",
    "Neon glows over a wet street while an advert speaks; what does it promise?",
    "An eye fills the frame and reflects a burning sky; why begin with it?",
    "Shafts of light cut through smoke; what do they search for?",
    "The score holds one low chord under the rain; what does it withhold?",
    "A man kneels in the rain and lets a dove fly; what is let go?",
    "May it be the lamp that moves, or the face? It swings; why?",
    "Hope glows as one small candle in a dark hall; what does it cost?",
    "Dolls stare from every shelf while a woman hides among them; why?",
    "The lift is a cage of iron; what does its slow rise do?",
    "Paper is folded into a bird by gloved hands; what is said by that?",
    "Steam, neon and rain fill the frame; which mood do they build?",
    "Low angles make the tower loom over tiny cars; what does scale say?",
    "Glass shatters in slow motion around a running woman; why slow it down?",
    "A fan turns above the table and chops the light; what does it do?",
    "Blue light washes over a sleeping face; what is it compared with?",
    "Music stops as the door opens; what does silence prepare?",
    "The camera sinks past balconies into fog; what does depth suggest?",
    "White doves, black coats and grey rain: why so little colour?",
    "Two faces share one frame, one sharp and one soft; whom do we trust?",
)
