"""The numeric side: the equations of `derivations` over arrays."""
