"""The rules, pure: no pytest, no network, no database; clock and chance are passed in.

`skill` is the lossless document, `sessions` and `review` lead from finished work to changes, `gates` refuse, `gepa`
searches, `stats` and `verdict` decide. The modules beside them are records and protocols that the layers share, and one
rule each.
"""
