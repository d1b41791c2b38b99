"""The words that answers are given in, in English: in lower case, ``|`` between them."""

from reelbench.evaluate.parse.vocabulary import Vocabulary

ENGLISH = Vocabulary(
    answer="answer|answers|ans|ans.|best match|best fit|best description|correct one"
    "|best one|right one|closest one|my choice|my pick|my selection|my guess|my best guess"
    "|my final choice|my final answer",
    option="option|options|choice|choices|letter|letters|caption|sentence|statement"
    "|description|alternative|selection",
    right="correct|right|best|most accurate|most appropriate|most suitable|closest"
    "|the answer|my answer|my choice|most likely|more likely|most plausible|more plausible"
    "|most probable|more probable|more accurate|most convincing|more convincing"
    "|most reasonable|most consistent|most fitting|better fit|better match|better choice"
    "|better answer|better option|stronger|strongest",
    be="is|are|is most likely|are most likely|is probably|is likely|is clearly|is indeed"
    "|is therefore|is thus|is definitely|is still|would be|should be|must be|will be"
    "|might be|may be|could be|seems to be|seem to be|appears to be|appear to be|remains"
    "|has to be|was|seems|appears|looks|'s",
    choose="i choose|go with|i pick|i select|i'd choose|i'd pick|i'd select|i'd go with"
    "|i would choose|i would pick|i would select|i would go with|i will choose"
    "|i will pick|i will select|i will go with|i'll go with|i'll choose|i'll pick"
    "|i'll select|i'm going with|i go with|i chose|i selected|i opt for|we choose"
    "|we select|going with|is option|matches option|is choice|matches choice"
    "|matching option|corresponds to option|correspond to option|corresponding to option"
    "|closest to option|points to option|leads to option|equivalent to option"
    "|corresponds to choice|go with option|aligns with option|consistent with option"
    "|agrees with option|matches with option|leaves option|leaving option"
    "|leaves us with option|leaving us with option|leaves only option|leaving only option"
    "|leaves us with|best captured by|best described by|best matched by|best represented by"
    "|best captured by option|best described by option|best represented by option"
    "|i lean toward|i lean towards|i'd lean toward|i'd lean towards|i would lean toward"
    "|i would lean towards|i'm leaning toward|i'm leaning towards|i am leaning toward"
    "|i am leaning towards|i'm inclined to choose|i'm inclined to pick|i'm inclined to say"
    "|i am inclined to choose|i am inclined to pick|i am inclined to say|i go for|i'd go for"
    "|i would go for|i'll go for|i will go for|i'd vote for|i vote for|i would vote for"
    "|i'd opt for|i would opt for|i settle on|i'd settle on|i settled on|but settled on"
    "|i'd bet on|i would bet on|i'd say|i would say|i'd guess|i would guess|i'd answer"
    "|i would answer|i'll say|i have to say|i'd have to say|i conclude|change my answer to"
    "|changing my answer to|switch to|switching to",
    yes="yes|yeah|yep",
    no="no|nope",
    negation="not|no|never|neither|nor|without|cannot|none|nothing|rather than|instead of"
    "|as opposed to|opposed to|unlike|other than|except|except for|excluding|rule out"
    "|rules out|ruled out|eliminate|eliminates|eliminated|incorrect|wrong|false|unlikely"
    "|than|nowhere|lack of|lacks|absence of|far from|contrary to|apart from|ruling out"
    "|hardly|fails to|too|if|unless|whether|as if|as though|suppose|assuming|implausible"
    "|inconsistent|contradicts|absent|discard|exclude|excluded|dismiss|invalid|inaccurate"
    "|impossible|misleading|doubt|free of|free from|devoid of|dismissed|discarded|rejected",
    negating="n't",
    supposing="would|should",
    but="but|but rather|it is|it's",
    joint="and|as well as|plus",
    either="or|either|and/or",
    all_of_them="all of the above|all of them|all of these|all options|all the options"
    "|all four options|all are correct|all the above|every option|all options are correct",
    filler="it's|it is|it must be|it would be|it should be|it has to be|it might be"
    "|it could be|that's|that is|that would be|probably|most probably|likely|most likely"
    "|very likely|definitely|certainly|clearly|obviously|surely|maybe|perhaps|possibly"
    "|i think|i believe|i guess|i'd say|i would say|i'd guess|i would guess|must be"
    "|should be|would be|looks like|so|thus|therefore|hence|well|okay|ok|sure|hmm|only"
    "|just|both|or|sure thing|the|seems like|seems to be|i'm confident it's"
    "|in my opinion|here|actually|now",
    article="the|a|an",
    ending="only|actually|indeed|definitely|of course|then|instead"
    "|too|both|alone|respectively|is correct|are correct|is right|are right"
    "|are both correct|are all correct|it is|is the answer|is the correct answer"
    "|are the correct answers|is the best answer|is my answer|i think|i believe|please"
    "|are true|are the answers|apply|are the correct options|is the right answer"
    "|is the correct option",
    so="so|thus|therefore|hence|in conclusion|overall|consequently|in summary|to sum up"
    "|to conclude|conclusion|accordingly|ultimately|finally|as a result|in short",
    why="this is|this can|this was|this indicates|this suggests|this conclusion|these"
    "|that is|this could|this would|this may|this answer|this option|this observation"
    "|this action|it is evident|it can be|as evident|as evidenced|as seen|as shown"
    "|as indicated|because|since|evidence|explanation|reason|reasoning|the reason"
    "|the evidence|we can see|i can see|you can see|evident|this shows|this is evident"
    "|this movement|this effect|this has",
    retraction="wait|hold on|hang on|hmm|hm|actually|correction|edit|oops|scratch that|strike that"
    "|never mind|not so fast|my mistake|my bad|i made a mistake|i made an error|i misspoke"
    "|i misread|i misjudged|i was wrong|that's wrong|that is wrong|that's not right"
    "|that is not right|that can't be right|i meant|i mean|i stand corrected|i take that back"
    "|i need to correct|i have to correct|i must correct|i should correct|i correct myself"
    "|i change my|i'd change my|i would change my|i'm changing my|i am changing my|i revise my"
    "|i retract|on second thought|on second look|on reflection|upon reflection"
    "|upon reconsideration|upon closer inspection|on closer inspection|upon closer look"
    "|on closer look|on a closer look|upon further|upon review|looking again|looking closer"
    "|looking more closely|after looking again|thinking about it again|come to think of it"
    "|let me correct|let me reconsider|let me rethink|let me revise|let me change"
    "|let me double check|let me double-check|let me check|let me recheck|let me re-check"
    "|let me verify|let me look again|let me look closer|let me re-examine|let me reexamine"
    "|let me think again|let me rewatch|let me re-watch|or rather|or more precisely"
    "|or more accurately|make that|it is actually|it's actually|the answer is actually"
    "|it is in fact",
    refusal="sorry|i'm sorry|i am sorry|i'm very sorry|i'm so sorry|i'm really sorry"
    "|i am very sorry|so sorry|very sorry|really sorry|i can't|i cannot|i can not"
    "|i could not|i couldn't|i do not know|i don't know|i do not have|i don't have"
    "|i do not see any|i don't see any|i do not see a video|i don't see a video"
    "|i do not think i|i don't think i|i don't think it is possible|i don't think it's possible"
    "|i do not think it is possible|i don't think there|i do not think there"
    "|i do not understand"
    "|i don't understand|i do not feel|i don't feel|i am not able|i am unable|i won't"
    "|i will not|i'm unable|i'm not able|unfortunately, i|unfortunately i|unfortunately, no"
    "|unfortunately, there|unfortunately, it|unfortunately, this|unfortunately, without"
    "|unfortunately, the video|unfortunately, the image|unfortunately, the question"
    "|unfortunately, the provided|unfortunately, the frames|unfortunately, as|unfortunately, we"
    "|as an ai|my apologies|i apologize"
    "|i apologise|apologies|impossible to|it is impossible to|it's impossible to"
    "|it is not possible to|not possible to|it's not possible to|unable to|can't tell"
    "|cannot tell|can't be determined|cannot be determined|it cannot be determined"
    "|it can't be determined|cannot determine|can't determine|cannot answer|can't answer"
    "|cannot say|can't say|there is no way to|there's no way to|no idea|i have no idea"
    "|no answer can be|no video|no image|no images|no frames|no way to"
    "|the question cannot be|the question can't be|the answer cannot be"
    "|the answer can't be|not enough information|insufficient information"
    "|there is not enough information|there is insufficient information|there is no video"
    "|no definitive answer|no clear answer|no information",
)
