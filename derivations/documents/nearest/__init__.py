"""The nearest known formula: which formula of the catalogue an expression is, and which is one edit away.

It explains, and never decides: a formula that is found by its fingerprint is proved equal by the judge.
"""
