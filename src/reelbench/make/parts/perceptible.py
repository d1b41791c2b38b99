"""Whether a question leads with something that is seen or heard, by lists of English words.

Words of things, bodies, movements, looks and noises are specific. Words of the means of an art,
such as light, colour or music, are said of any work: alone, they describe nothing in particular.
"""

import re

from reelbench.base.text import word_set

_LEAST_WORDS = 4  # of what comes before the question
_LEAST_PERCEPTIBLE = 2  # different words among them, one of which is specific

_MEANS = word_set(
    """
    ambience angle art aspect background brushwork camera choreography colour color composition
    contrast costume cut design dialogue edit editing exposure figure foreground form frame framing
    gesture graphic highlight hue image lens level light lighting line melody mise-en-scene montage
    movement music noise palette performance perspective photograph picture posture prop rhythm
    scale scenery score screen set shade shadow shape shot silence song sound soundtrack space stage
    staging texture tone transition view voice
    """
)

_THINGS = """
    air alley altar animal apple apron arch armour arrow ash avatar axe bag ball balcony balloon
    bandage banner bar barrel basket beach beam bear beard bed bell belt bench bicycle bird
    blade blanket blood board boat body bomb bone book boot bottle bouquet bow bowl box branch
    bread brick bridge brush bubble bucket building bullet bus bush button cabin cage cake
    candle cane canvas cap cape car card carpet cart castle cat cave ceiling cellar chain chair
    chalk chandelier chest chimney church cigarette cliff cloak clock cloth clothes cloud coat
    coffin coin column compass corner corpse corridor couch counter cradle crib cross crosshair
    crown cup cupboard curtain cushion dagger desert desk diamond dish dog doll dome door
    doorway doorframe dot dragon drawer dress drop dust easel edge egg elevator engine envelope
    face fabric factory fan feather fence field fire firework fish fist flag flame floor
    floorboard flower fog forest fork fountain fruit fur garden gate ghost glass glasses glove
    gold grass grave gravel gun hall hallway hammer handkerchief handle harbour hat hedge helmet
    highway hill hole hook horizon horse hospital house ice icon island ivory jacket jar jewel
    kettle key kitchen knife knight lace ladder lake lamp lantern lawn leaf leaves leather
    letter lid lightning lipstick luggage machine map marble mask mast mat meadow medal metal
    microphone mirror mist monster moon moss motorcycle mound mountain mud mural nail neon net
    newspaper ocean oil orange ornament oven page paint panel paper path pavement pearl pen
    pencil petal phone pillar pillow pipe pistol plank plant plate platform pole pond pool
    portrait poster pot puddle puppet quilt radio rail railing rain rainbow ribbon rifle ring
    river road robe rock roof room rope rose row rubble rug ruin rust sail sand scaffold scar
    scarf screw sculpture sea seat shawl sheet shelf shell shield ship shirt shoe shop
    shoulder-pad sign silhouette silk sink skeleton skirt sky skull skyscraper smoke snow sofa
    soldier spear sphere spire splinter spoon spotlight stain staircase stair statue steam steel
    step stick stone stove strand straw street stripe suit suitcase sun sunlight sunset sword
    table tail tank tapestry tear teapot telephone tent thread throne thunder ticket tie tile
    timber torch towel tower track trail train tray treadmill tree trousers truck trumpet tube
    tunnel umbrella uniform urn valley van vase vehicle veil velvet village vine violin volcano
    wagon waist wall wallpaper wardrobe water waterfall wave wax weapon wheel wig window wing
    wire wood woods wool wound wreath yard
"""
_BODIES = """
    actor actress arm audience baby ballerina boxer boy bride brother brow cast cheek child
    children chin choir chorus clown comedian companion couple creature crew crowd daughter
    dancer ear elbow enemy eye eyebrow eyelid eyes father feet finger foot friend girl hair hand
    head heel hero hip jaw king knee lady leg lip lips man men mother mouth musician neck nose
    nun nurse officer orchestra palm pianist police priest puppeteer queen rider sailor singer
    sister skin soldier son stranger throat thumb tongue tooth teeth torso villain waiter
    waitress woman women wrist
"""
_LOOKS = """
    asymmetrical backlit bare bent black blank bleached blinding blocky blonde blue bluish
    blurred blurry bold bright broken brown burnt checkered circular clenched cold cool cracked
    cramped crimson crooked crowded curved dark dazzling deserted dim dirty distorted dotted
    empty enormous faceless faded faint flat foggy frozen giant gilded glossy glowing golden
    greenish green grey gray hazy heavy hollow huge icy jagged kneeling large left lit lone low
    massive matt messy misty motionless muddy naked narrow opposite oversaturated overexposed
    painted pale pastel pink pixelated polished purple ragged rainy red round rusted saturated
    scarlet shadowed sharp shiny short silver slanted slim small smooth snowy soft spiral square
    steep straight striped symmetrical tall tattered tattooed thick thin tilted tiny torn
    towering translucent transparent turquoise twisted underexposed unlit upright vast vertical
    violet vivid warm wet white wide wooden wrinkled yellow
"""
_MOTIONS = """
    advance appear approach arrive ascend bend blink block bounce bow break brush burn burst
    carry chase circle clap cling clench climb close collapse collide cover crash crawl creep
    cross crouch crumble crush cry dance dangle dart dash descend dim disappear dissolve dive
    dolly drag drift drip drive drop duck dwindle embrace emerge enter exit expand explode fade
    fall fill flash flee flicker flip float flood flow flutter fly fold freeze gallop glance
    glare glide glimmer glint glisten glow grab grasp grin grip halt hang hide hit hold hover
    hug hurl jerk jump kick kneel knock lean leap lie lift limp linger loom lower lurch march
    melt move narrow nod open orbit pace pan paint pause peel peer pick pivot plunge pose pour
    press pull push quiver raise recede reflect return revolve ride ripple rise roll rotate run
    rush scatter scroll seize shake shatter shimmer shine shiver shrink shrug shudder sink sip
    sit slam slide slip slow smash smear smile snap soar spill spin splash splatter spread
    spring sprint squeeze stack stagger stand stare steer stop stretch stride strike stroll
    stumble surround sway sweep swell swim swing swirl swivel tap tear throw tighten tilt tip
    topple toss touch tremble trip tumble turn twirl twist vanish vibrate wade walk wander watch
    wave weep widen wink wipe wobble wrap zigzag zoom
"""
_NOISES = """
    applause bang bark bass beat beep bellow boom breathe breath buzz cello cheer chime chirp
    chord clang clarinet clash clatter click clink cough crack crackle creak crescendo crunch
    cymbal drone drum echo explosion falsetto fanfare flute footstep gasp giggle gong growl
    guitar gunshot harp heartbeat hiss horn howl hum jingle knock laugh laughter loud lullaby
    moan muffled mumble murmur mute octave organ percussion piano pitch pop quiet rattle reverb
    ring roar rumble rustle scream screech shout shriek sigh silent sing siren sizzle snare sob
    static stamp string strum synth synthesizer tempo thud thump tick tinkle toll tuba vibrato
    wail whisper whistle yell
"""
_FILMED = """
    close-up closeup crane dutch handheld overhead slow-motion split-screen wide-angle upside
    crossfade jump-cut cross-cut tracking steadicam hud minimap cursor checkpoint health
"""
_SPECIFIC = word_set(f"{_THINGS}{_BODIES}{_LOOKS}{_MOTIONS}{_NOISES}{_FILMED}")
_KNOWN = _SPECIFIC | _MEANS
_MOVING = word_set(_MOTIONS)

_ASKED = r"(?:what|why|how|which|who|whom|whose)\b(?!ever)"
_QUESTION = re.compile(
    rf"(?:^|[,;:.!?…—–]['\"”’)]*\s*)(?:(?:and|so|then|but|(?:in|for|to|by|with|from|of|at|on))\s+)?{_ASKED}",
    re.I,
)
_LAST_PART = re.compile(r"[,;:.!?…—–][^,;:.!?…—–]*\?\W*$")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "est", "ly", "y")


def lead_of(question: str) -> str:
    """Return what a question says before it asks; empty where it begins by asking."""
    found = _QUESTION.search(question) or _LAST_PART.search(question)
    return question[: found.start()].strip() if found else ""


def leads_with_seen_or_heard(question: str) -> bool:
    """Whether a question begins with a description of something that can be seen or heard."""
    words = [re.sub(r"['’]s?$", "", word.lower()) for word in _WORD.findall(lead_of(question))]
    if len(words) < _LEAST_WORDS:
        return False
    specific = {base for word in words if (base := _base(word, _SPECIFIC))}
    means = {base for word in words if (base := _base(word, _MEANS))} - specific
    return bool(specific) and len(specific) + len(means) >= _LEAST_PERCEPTIBLE


def is_known_word(word: str) -> bool:
    """Whether a word in small letters is of something seen or heard."""
    return bool(_base(word, _KNOWN))


def is_motion(word: str) -> bool:
    """Whether a word in small letters says that something moves."""
    return bool(_base(word, _MOVING))


def _base(word: str, known: frozenset[str]) -> str:
    """Return the form in which a list has a word, or a part of it; empty where it has not."""
    for part in (word, *word.split("-")):
        for form in _forms(part):
            if form in known:
                return form
    return ""


def _forms(word: str) -> list[str]:
    """Return a word and what it may be a form of: glows, glowing, glowed; shakes, slipped."""
    forms = [word]
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            forms += [stem, f"{stem}e"]
            forms += [stem[:-1]] if stem[-1] == stem[-2] else []
            forms += [f"{stem[:-1]}y"] if stem[-1] == "i" else []
    return [*forms, *_IRREGULAR.get(word, ())]


_IRREGULAR = {
    "lay": ["lie"], "lies": ["lie"], "ran": ["run"], "sang": ["sing"], "shook": ["shake"],
    "stood": ["stand"], "swung": ["swing"], "hung": ["hang"], "held": ["hold"], "fell": ["fall"],
    "struck": ["strike"], "knives": ["knife"], "shelves": ["shelf"], "sinks": ["sink"],
    "strings": ["string"], "wept": ["weep"], "drawn": ["painted"], "froze": ["freeze"],
}  # fmt: skip
