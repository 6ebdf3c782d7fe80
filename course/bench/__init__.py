"""`course bench compress`: what compressing costs, beside the floor and beside other libraries."""
