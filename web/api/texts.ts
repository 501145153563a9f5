/** Texts of API calls. */
export const apiTexts = {
  undo: 'Undo',
  notUndone: 'Could not undo.',
  unreachable: 'Could not reach the server. Check your connection and try again.',
  answered: (status: number) => `The server responded with error ${status}. Try again.`,
  unexpected: 'Something went wrong. Try again or reload the page.',
  passkeyUnused: 'No passkey was used. Try again.',
  passkeyKnown: 'This device already has a passkey for your account.',
} as const
