/** Texts of the assistant that several features show. */
export const assistantTexts = {
  off: 'Queries are off.',
  setup: 'The owner of the database switches them on with',
  setupCopied: 'Statements copied',
  askAboutThis: 'Ask about this',
} as const
