@load ./options
@load ./main
