/** Texts that the cards of all connections share. */
export const integrationsTexts = {
  states: { works: 'Works', slowed_down: 'Slowed down', broken: 'Broken', not_connected: 'Not connected' },
  toDo: 'What to do',
  lastReceived: 'Last received',
  lastSent: 'Last read',
  lastError: 'Last error',
} as const
