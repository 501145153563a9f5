/** Texts of the critical paths of a project. */
export const criticalPathsTexts = {
  title: 'Critical paths',
  label: 'Journeys',
  hint: 'One per line: a transaction, a screen or the value of a tag. * matches any characters. Critical path alerts watch them.',
  saved: 'Critical paths saved',
  failed: 'Could not save.',
} as const
