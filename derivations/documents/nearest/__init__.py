"""The nearest known formula: the one of the catalogue that an expression equals, or is one edit away from.

It explains, and never decides: a formula that is found by its fingerprint is proved equal by the judge.
"""
