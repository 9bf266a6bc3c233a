"""What providers promise; landed by issue 5."""

AGENT = {
    "000 acceptance criteria, providers": {
        "AC-25": "Anthropic's tool_use blocks become tool call start, delta and end chunks with the right id and name.",
        "AC-26": "OpenAI's tool_calls in the delta become the same chunks.",
        "AC-27": "Ollama's message.tool_calls become one start, one delta and one end each.",
        "AC-28": "A request's tools go to every provider in its own format; without tools none are sent.",
    },
    "000 tasks 2, 11 to 13; 001 patterns 2 and 8": {
        "PROV-1": "All providers yield the same typed chunks: start, text, thinking, tool call start, delta and end, usage, end, fault.",
        "PROV-2": "Several calls of one answer come with their own ids, and their pieces make the whole.",
        "PROV-3": "A provider without ids for calls gets ids of ours.",
        "PROV-4": "Names travel in letters, digits, _ and -, at most 64, no two alike, and come back as our own.",
        "PROV-5": "Thinking blocks go back to Anthropic with their signatures; redacted ones too.",
        "PROV-6": "Usage tells tokens in, out and cached, and the cost when the price is known.",
        "PROV-7": "Calls, results and errors of tools go back in each provider's own form.",
    },
    "ours: retries and faults": {
        "PROV-8": "429 (as long as it says), 5xx and lost connections are tried again, at most three times, before anything was passed on.",
        "PROV-9": "A provider's refusal is told as 'Provider error (401): …', at once.",
        "PROV-10": "Each new attempt is told, with its reason and its pause.",
        "PROV-11": "Keys are in no message, whatever a provider says back.",
        "PROV-12": "However a stream ends early (cut, slow, empty, malformed, twice), it is a fault, and no call of it can be run.",
        "PROV-13": "A call whose arguments are not valid JSON, or ambiguous, ends with the reason, is not run, and goes back as JSON.",
        "PROV-14": "Whoever stops listening closes the connection.",
    },
    "ours: cost": {
        "PROV-15": "A message is written once, however often it is sent.",
        "PROV-16": "Neither holdfast --help nor the protocol of providers imports an SDK.",
    },
    "003 Copilot provider": {
        "COPILOT-1": "Its id is github-copilot; it sends its headers, and says whether the person or the agent began.",
        "COPILOT-2": "Configured headers win over the defaults, and never over the key.",
        "COPILOT-3": "A provider's error has status and body: Provider error (status): body.",
    },
    "issue 5: which provider": {
        "PICK-1": "A model is named provider/id, or by an id that says whose it is; anything else is told with the choices.",
        "PICK-2": "Without a setting: ANTHROPIC_API_KEY, OPENAI_API_KEY, a running Ollama, the demo, in this order, and it says why.",
        "PICK-3": "The models of all configured providers are listed with window, supports_tools and whether they can be reached.",
        "PICK-4": "supports_tools of Ollama's models is what /api/show says; a model without tools is sent none.",
    },
    "issue 5: scripted": {
        "SCRIPT-1": "A YAML script plays a model: text, thinking, calls, faults, delays, by the person's message or the turn's number.",
        "SCRIPT-2": "A script is read strictly; a mistake is told with its line.",
        "SCRIPT-3": "The last result of a tool can be used in what is said and called.",
        "SCRIPT-4": "A script goes on where a conversation stands, whoever remembers it.",
        "SCRIPT-5": "The demo tours the sample project offline: read, edit, a command with effects, a question, an undo.",
    },
}
