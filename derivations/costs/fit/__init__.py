"""Does a model fit, what bounds its speed, how does it split over devices: budgets of bytes and bounds on time."""
