/** Texts of API calls. */
export const api = {
  undo: 'Undo',
  notUndone: 'Could not undo.',
  unreachable: 'The server could not be reached.',
  answered: (status: number) => `The server answered ${status}.`,
  unexpected: 'Something went wrong. Try again or reload the page.',
} as const
