"""Skills for the tests of the recipe behaviour, in words of their own."""

GOOD = """---
name: recipe-cookbook
description: Build a recipe cookbook from the meal catalogue: look up dishes, their category and cuisine, rate difficulty.
---

# Recipe cookbook

## When to use

A task asks for a cookbook of dishes.

## Steps

1. Search for each dish. If nothing comes back, drop a word and search again. Details need an id, so search first.
2. Of the hits, use the one whose name is identical to the dish; never simply the first hit.
3. Fetch the lists of categories and areas. Make each such request once and reuse the answer.
4. Whenever the total is larger than the rows you got, continue with `offset` until nothing is left.
5. Fill each entry: name as the task writes it, cuisine as the kitchen word of the task, category, time.
   Count the ingredients in the list by hand. Set the difficulty by the thresholds of the task.
6. Always add `category_dishes` and `cuisine_dishes`: the total and the three alphabetically first names.
7. A null in one answer: take the value from a different list.
8. The summary holds distinct cuisines, sorted.
9. Check that every requested dish is in the file once. Write the file in one go, then call `claim_done`.

## Pitfalls

- Timeout: ask again for the failed item alone, up to three times. Never repeat the batch.
- RATE_LIMITED: carry on with other calls and return to the refused one afterwards.
- NO_DATA will not change: write the sentinel. Never guess a value.
- plan.json is stale. Do not use it.
"""

SEED = """---
name: recipe-cookbook
description: Make a recipe cookbook from the meal catalogue with its lookup tools.
---

# Recipe cookbook

## When to use

For cookbook tasks with a table of dishes.

## Steps

1. Search every dish by its name. Look up ids before details.
2. Fetch the category and the area lists once each.
3. If any lookup fails, run the whole batch again.
4. Use returned_count as the number of dishes.
5. Count the ingredients in the list yourself and set difficulty by the rule of the task.
6. Report names as the task spells them, and cuisine with the kitchen word of the task.
7. Write recipe_cookbook.json once, check that no requested dish is missing, then call claim_done.

## Pitfalls

- If the catalogue has no value, estimate a plausible one.
- Ignore the plan file.
"""

CORRUPTED = """---
name: recipe-cookbook
description: Make a recipe cookbook from the meal catalogue with its lookup tools.
---

# Recipe cookbook

## Steps

1. Call the details with the name of each dish first.
2. If any lookup fails, run the whole batch again.
3. Take the first hit.
4. Use returned_count as the number of dishes.
5. Copy difficulty from the tool's estimate.
6. Report names as the catalogue spells them and cuisine as the country.
7. Leave out category_dishes; skip cuisine_dishes.
8. Use plan.json as the list of dishes. Do not call claim_done.
"""
