"""The phrase bank of the simulated reflection model and Reviewer: rules in its own words.

`{field}` is the key that a complaint names, `{words}` the same key as words, `{tool}` a tool, `{entity}` an item.
"""

from __future__ import annotations

from typing import Final

#: Good general rules by remedy; at least six wordings each.
RULES: Final[dict[str, tuple[str, ...]]] = {
    "retry": (
        "After a time-out, send just the failed call a second time and leave the rest of the work as it is.",
        "A request that fails is repeated alone, two more times at the most.",
        "Keep every answer that succeeded; only what failed is asked again.",
        "When one lookup breaks, redo that single lookup, not the entire batch.",
        "Retry the exact item that timed out, and nothing else.",
        "Transient errors deserve another try of the same call only; the finished items stay finished.",
        "If an item errors, repeat only that item before going on.",
    ),
    "rate limit": (
        "On a rate limit go on with other items and come back to the refused one later.",
        "RATE_LIMITED means: do the remaining lookups first, afterwards make the refused call once more.",
        "When a call is throttled, continue elsewhere until retry_after_calls other calls have been made.",
        "After RATE_LIMITED never hit the tool again at once; use the time for different calls.",
        "A throttled lookup is postponed: take the next item in the meantime.",
        "Treat a 429 as a reason to wait a few calls, working on another item.",
    ),
    "gap": (
        "NO_DATA is a final answer: write the documented sentinel and do not ask again.",
        "Where a source has no value, put the agreed unavailable object into the field and go on.",
        'A permanent gap is reported as {"unavailable": true}.',
        "When a tool says NO_DATA, accept it and record the sentinel.",
        "Never guess what lies behind NO_DATA; mark it as unavailable.",
        "A value that does not exist in the source gets the placeholder from the task.",
    ),
    "honesty": (
        "Never invent a value; leave out what no lookup has confirmed.",
        "Report only values that a tool has returned in this run.",
        "Do not guess numbers or fields that are still open.",
        "Every figure in the file needs a tool answer behind it, so no made up values.",
        "Fill fields only from evidence in the answers; estimates do not belong there, never assume a value.",
        "An open field is better than an invented value: do not fabricate data.",
    ),
    "paging": (
        "Compare the stated total with the rows received and page on with offset until you have them all.",
        "A list may be cut: ask for further pages until the total is reached.",
        "Take the total that the answer states, not the number of rows shown.",
        "When fewer rows arrive than the total says, request the next pages by offset.",
        "Do not use the length of a returned list as a count; lists are capped and the total is larger.",
        "Follow offset to the last row before you count or rank anything.",
    ),
    "ambiguity": (
        "Before using a hit, compare its name with the title that you were asked for.",
        "Never take the first match unseen: a longer namesake may be listed before the right one.",
        "Choose the result whose name equals the title word for word.",
        "Several hits can look alike, so check the name of each match and take the identical one.",
        "Make sure that the resolved name is exactly the one in question before you use its id.",
        "Do not accept the top result without reading its name.",
    ),
    "titles": (
        "Write every name exactly as the task spells it.",
        "Use the titles of the task in the file, not the catalogue's names.",
        "The name field carries the title given in the task's table.",
        "Even if the source calls an item differently, keep the task's title.",
        "Names in the output are spelled as in the request.",
        "Report each item under the title that was asked for.",
    ),
    "verify": (
        "Before saving, check that every requested item is in the file exactly once.",
        "Tick off the list of requested names against the output: none missing, none twice.",
        "Count the entries and confirm that each item of the task is present.",
        "Make sure no requested entry is missing and no entry appears twice in the file.",
        "Go through all requested titles and verify that each one is included.",
        "Compare the set of delivered names with the requested set before finishing.",
    ),
    "task wins": (
        "Ignore plan files in the workspace that differ from the task.",
        "Never add items from an old plan: the task decides.",
        "Where a plan and the task disagree, the task wins.",
        "Do not trust plan.json; it is stale.",
        "The task overrides any plan that lies around in the workspace.",
        "Leave the plan aside, do not use it: the plan is not the task.",
    ),
    "merge": (
        "If a field is null in one answer, take it from another lookup that also carries it.",
        "Fill an empty field from the rows of a different tool.",
        "A missing value in the search row can be found in another list that holds the same item.",
        "Combine answers: what one call leaves null, another call may have.",
        "When a record lacks something, look for it in the other answers.",
        "Complete blank fields with a second source before writing.",
    ),
    "finish": (
        "End the run by calling claim_done, after the file is saved.",
        "The last action is always claim_done.",
        "Never stop without claim_done.",
        "Save the file and then close the task with claim_done.",
        "A run that ends without claim_done does not count, so call it last.",
        "Do not forget the closing claim_done call.",
    ),
    "order": (
        "Find the id first; details are asked with an id only.",
        "Search before details: the detail call needs an id.",
        "Get every id from a list or search, then call the details.",
        "Never call details with a name.",
        "Resolve ids before any lookup of details.",
        "A detail lookup requires an id that an earlier answer gave.",
    ),
    "reuse": (
        "Never ask twice for an answer that you already have.",
        "Keep the lists that you have fetched and reuse the answers.",
        "Make every lookup once; do not repeat calls that were answered.",
        "Remember results instead of requesting the same list again.",
        "Avoid issuing the same call twice.",
        "Do not request the same answer a second time, reuse it.",
    ),
    "alphabetical": (
        "Sort the names alphabetically before taking the first three for {field}.",
        "In {field} the three names are the first in alphabetical order over the whole list.",
        "Order the items of a list alphabetically, then take the top three.",
        "The top3 names are sorted from A to Z.",
        "Alphabetical order decides which three names go into {field}.",
        "Before you cut a list to three names, sort it alphabetically.",
    ),
    "include": (
        "Every entry also needs the key {field}.",
        "Add {field} to each entry, although the example in the task does not show it.",
        "The output contract includes {field}; write it for every item.",
        "Always give {field} as well.",
        "Do not leave out {field}: it is checked for each entry.",
        "An entry is complete only with {field}.",
        "Beside the keys of the example, record {field} for every item.",
    ),
    "as asked": (
        "Write {words} with the word that the task uses.",
        "{words} is reported as the task's table names it, never as a country or area of the source.",
        "Take {words} from the task, not from the catalogue's area.",
        "For {words} keep the wording of the request.",
        "Translate the source's term back: {words} carries the name given in the task.",
        "Put the task's own term into {words}.",
    ),
    "own count": (
        "Count the {object} yourself; do not copy {field} from a tool.",
        "Never take {field} from a ready-made figure: count the entries of the {object} list.",
        "{field} is the length of the real list of {object}, blank slots left out.",
        "Work out {field} by counting the {object} one by one in the list.",
        "Do not trust a printed {field}; count the listed {object}.",
        "The number of {object} is counted from the list itself, so never copy {field}.",
    ),
    "by rule": (
        "Derive {words} from the rule in the task, not from a tool's estimate.",
        "Apply the task's thresholds to set {words}.",
        "Work out {words} yourself by the stated rule.",
        "Ignore estimates of tools: {words} follows the limits that the task gives.",
        "Determine {words} by the bands in the task.",
        "Compute {words} with the task's own scale.",
    ),
    "block": (
        "Copy the figures of the summary block; do not work them out from the rows.",
        "Take {words} from the block of ready-made figures in the answer.",
        "Use the answer's summary block for {words}, never a few rows.",
        "Keep only the summary block of a long answer and report its figures.",
        "For {words} the summary block counts, not the rows.",
        "Never compute {words} from rows by hand: the block has the figures.",
    ),
    "detour": (
        "When one tool keeps failing for an item, take the values from another tool.",
        "If a lookup times out for good, go another way: other lookups hold the same values.",
        "A tool that fails three times for one item is replaced by the other tools.",
        "After repeated failures use the alternative lookups that give the same value.",
        "Failing for good is no gap: fall back on a different tool.",
        "Do not wait for a tool that keeps failing, use the other route.",
    ),
    "units": (
        "Read the unit of every figure and convert all of them to single units before comparing.",
        "Values in millions are multiplied by 1,000,000 before they are used.",
        "Check the unit field of an answer; turn millions into single units.",
        "Bring all amounts to the same unit first: some answers count in millions.",
        "Never mix units: scale a figure in millions up to whole units.",
        "Normalise every amount to single units by its stated unit.",
    ),
    "numeric ids": (
        "Write every id as a whole number, without quotes.",
        "An id is an integer in the file, never a string.",
        "Ids are JSON numbers; text in their place does not count.",
        "Do not put quotes around an id.",
        "Keep ids numeric: turn the id of the table into an integer first.",
        "The id must be a number, not text.",
    ),
    "common year": (
        "Use one year for the whole report: the latest that all answers have in common.",
        "Compare the years of all answers and take the latest shared year.",
        "Do not take the newest value of each; take the same year for all of them.",
        "Find the most recent year for which every one has a value and report that common year.",
        "All figures belong to one common year, the latest that nobody lacks.",
        "Never report latest_value unseen: its year may not be shared by the others.",
    ),
    "summary": (
        "Compute the summary from the entries that you really wrote, each value once and sorted.",
        "Build the summary at the end out of the delivered entries, without duplicates.",
        "The summary lists distinct values in alphabetical order.",
        "Recompute every summary field from the written entries.",
        "Collect the distinct values of the entries for the summary and sort them.",
        "Do not copy the summary of the example; derive it from the finished entries.",
    ),
}

#: Wrong rules by remedy: what a careless writer might put in their place.
HARMFUL: Final[dict[str, tuple[str, ...]]] = {
    "retry": (
        "If any call fails, rerun the whole batch from the beginning.",
        "After an error start over with all calls so that everything is fresh.",
        "When a lookup times out, give up on it and go on.",
    ),
    "rate limit": (
        "When RATE_LIMITED appears, repeat the call immediately until it works.",
        "Answer a rate limit with the same call again at once.",
    ),
    "gap": (
        "On NO_DATA estimate a plausible value.",
        "Where there is a gap, fill in the most likely answer.",
    ),
    "honesty": (
        "Fill open fields with a plausible value so that the file is complete.",
        "Where a number is unknown, estimate the value.",
    ),
    "paging": (
        "Use returned_count as the number of items.",
        "The first page of a list is enough.",
    ),
    "ambiguity": ("Take the first hit; it is the right one.", "Use the first result of every search."),
    "titles": ("Use the names of the catalogue in the file.", "Write the name as the API gives it."),
    "verify": ("Save time: do not check whether every requested item is in the file.",),
    "task wins": ("Use plan.json as the list of what to deliver.", "Add the items of the plan as well."),
    "merge": ("Leave null fields out of the entry.", "Leave empty fields as they are."),
    "finish": ("Do not call claim_done; a closing sentence is enough.",),
    "order": ("Call the details with the name of each dish.",),
    "reuse": (
        "Ask every question again to be sure.",
        "Repeat each lookup once more for good measure, even if it succeeded.",
    ),
    "alphabetical": ("Take the three names in list order.",),
    "include": ("Leave out {field}; it is not needed.", "Skip the key {field}."),
    "as asked": ("Report {words} as the country that the catalogue gives.",),
    "own count": ("Copy {field} from the record.",),
    "by rule": ("Use the tool's estimate for {words}.", "Copy {words} from the tool's estimate."),
    "block": ("Work out {words} by hand from a few rows.",),
    "detour": ("Repeat a failing call until it answers.",),
    "units": ("Ignore the unit field; the figures are comparable as they are.",),
    "numeric ids": ("Write each id as text.", "Put ids into quotes."),
    "common year": ("Take the newest value of each.", "Use latest_value, it is the most recent."),
    "summary": ("Copy the summary from the example.",),
}

#: Advice that matches no practice.
VAGUE: Final = (
    "Work carefully and pay attention to detail.",
    "Take your time and aim for high quality.",
    "Be thorough and think about what could go amiss.",
    "Stay organised and keep an eye on accuracy.",
    "Handle problems gracefully.",
    "Think step by step and use good judgement.",
    "Strive for a professional result.",
)

#: What a bloated edit adds around its rule: many words that say nothing of the method.
PADDING: Final = (
    "It cannot be stressed enough how valuable a calm and considered attitude is in work of this kind.",
    "Experience across a wide variety of comparable assignments shows that care pays off in the long term.",
    "Readers appreciate a pleasant, well rounded result, and so it is worthwhile to bear their perspective in mind.",
    "Good work begins with the right frame of mind and with respect for the people who rely upon it.",
    "While circumstances vary from day to day, a steady hand and a clear head remain great companions.",
    "Many small virtues add up: patience, curiosity, modesty and a healthy sense of proportion.",
    "One should also bear the wider picture in mind, because every assignment is part of a larger story.",
    "There is a certain beauty in work that is carried out with quiet confidence.",
)

#: Rules that hold for one item of the feedback only.
ENTITY: Final = (
    "For {entity}: {rule}",
    "When the item is {entity}, {rule}",
    "For {entity} in particular, {rule}",
)

#: Descriptions for a skill index; `{topics}` are words of the tasks seen.
DESCRIPTIONS: Final = (
    "Use for tasks about {topics}.",
    "How to do tasks with {topics}.",
    "Load this for any task that mentions {topics}.",
    "Method for work on {topics}.",
    "Steps and pitfalls for {topics}.",
    "Guidance for tasks around {topics}.",
)
VAGUE_DESCRIPTIONS: Final = (
    "Helpful hints.",
    "Useful advice for many situations.",
    "Improves quality.",
    "General guidance.",
    "Good practice.",
    "Know-how from experience.",
)
WHEN_TO_USE: Final = (
    "Use this when a task asks for {topics}.",
    "Applies to every task about {topics}.",
    "Load it at the start of a task with {topics}.",
    "For tasks that combine {topics}.",
    "Whenever {topics} are asked for.",
    "Meant for work on {topics}.",
)
