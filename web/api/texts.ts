/** Texts of calls and of what comes back. */
export const api = {
  undo: 'Undo',
  notUndone: 'Could not undo.',
  unreachable: 'The server could not be reached.',
  answered: (status: number) => `The server answered ${status}.`,
  unexpected: 'Something unexpected happened. Try again; if it stays, reload the page.',
} as const
