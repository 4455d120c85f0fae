"""The optimization: loop, optimizer, schedule, precision, tricks; and what a run writes."""
