"""Whether a model fits, what bounds its speed and how it is split over devices: bytes and bounds on time."""
