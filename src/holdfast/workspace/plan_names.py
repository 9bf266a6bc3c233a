"""Names for plans that nobody has named: three words, such as gleeful-tangerine-expedition."""

import secrets

_QUALITIES = """
able agile amber ample ancient ardent aspiring attentive balanced beaming bold brave breezy bright brisk buoyant calm candid careful
cheerful clear clever composed cosmic courteous crisp curious daring dazzling deft diligent dreamy eager earnest easy elegant
emerald even fabled fair faithful fearless festive fine flowing fluent fond frank fresh friendly gallant gentle gifted glad gleeful
golden graceful grand grateful happy hardy hearty helpful honest hopeful humble immense jolly jovial joyful jubilant keen kind
lasting lively lucid lucky luminous majestic mellow merry mighty mindful modest musical neat nimble noble open orderly patient
peaceful playful polite proud quick quiet radiant ready robust rosy serene sharp shiny sincere sleek smooth snug soaring solid sparkling
spirited splendid steady sturdy subtle sunny swift tender thoughtful tidy timely tranquil trusty upbeat valiant vivid warm
whimsical wise witty zesty
"""

_THINGS = """
acorn almond anchor apple apricot arch aspen atlas bamboo beacon birch blossom bridge brook canyon cedar cherry citrus cliff
cloud clover cobalt comet compass copper coral cove crane creek cricket crystal daisy dawn delta dolphin dune eagle echo elm ember
falcon feather fern fig finch fjord flint forest fountain garden geyser ginger glacier granite grove harbor hazel heron hickory
hill hollow honey horizon iris island ivory ivy jasmine juniper lagoon lantern larch lark lavender leaf lemon lilac lily lotus
maple marble meadow mesa mint moon moss mountain nectar oak oasis ocean olive orchard orchid otter owl palm pebble pepper pine
planet plum pond poppy prairie quartz rain raven reed reef ridge river robin rose saffron sage sapphire sequoia shore sky snow
sparrow spring spruce star stone stream summit sunrise swan tangerine thicket thistle tide timber topaz tulip valley violet walnut
wave willow wind wren zephyr
"""

_VENTURES = """
accord adventure advance agenda alliance anthem arrangement ascent assembly awakening ballad beginning blueprint breakthrough campaign
carnival celebration chapter charter chorus chronicle circuit collection commission composition concert contract convoy craft
creation crossing cruise dance debut departure design dialogue discovery drive embassy encounter endeavor enterprise errand
evolution excursion exhibition expansion expedition experiment exploration fable fanfare festival flight forum foundation
gathering harmony harvest homecoming hymn idea initiative inquiry invention invitation itinerary journey jubilee launch legacy
lesson letter market march masterpiece matinee measure melody mission movement mystery narrative novel odyssey opening opera
orbit overture pageant parade passage pilgrimage plot poem portrait premiere procession progress project promise proposal
pursuit quest recital reform regatta relay renewal report research resolution reunion revelation revival rhapsody romance route
saga safari scheme sequel serenade service sketch sonata sonnet story strategy study symphony tale tour tradition
transformation transition treaty triumph undertaking venture verse victory vision voyage waltz workshop
"""


def invent_name() -> str:
    """Three words at random, joined by hyphens."""
    return "-".join(secrets.choice(words.split()) for words in (_QUALITIES, _THINGS, _VENTURES))
