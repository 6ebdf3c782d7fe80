"""The chapters, solved. Each module adds one idea to the agent and may import earlier chapters only."""
