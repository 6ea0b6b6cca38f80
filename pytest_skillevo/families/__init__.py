"""The engine behind task families: worlds by keyed draws, planned faults, tools, official and strict scores."""
