/** Texts of API calls. */
export const apiTexts = {
  undo: 'Undo',
  notUndone: 'Could not undo.',
  unreachable: 'The server could not be reached.',
  answered: (status: number) => `The server answered ${status}.`,
  unexpected: 'Something went wrong. Try again or reload the page.',
} as const
