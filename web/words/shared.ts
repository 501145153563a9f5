/** Words used on more than one page. Every text people read stands in `words/`, ready for translation. */
export const shared = {
  product: 'Faultline',
  titleOf: (page: string) => `${page} · Faultline`,
  undo: 'Undo',
  notUndone: 'Could not undo.',
  unexpected: 'Something unexpected happened. Try again; if it stays, reload the page.',
  tryAgain: 'Try again',
  cancel: 'Cancel',
  save: 'Save',
  saved: 'Saved',
  copy: 'Copy',
  loading: 'Loading',
  allProjects: 'All projects',
  notLoaded: (what: string) => `${what} did not load`,
  keptFromBefore: 'What was loaded before stays on the page.',
  needsRole: (role: string) => `Changing it needs the role ${role}.`,
} as const
