/** Texts of the assistant that several features show. */
export const assistantTexts = {
  off: 'Queries are off.',
  setup: 'The owner of the database switches them on with',
  setupCopied: 'Statements copied',
  askAboutThis: 'Ask about this',
  writtenBy: { built_in: 'by rules, without a model', model: 'by the model', typed: 'by you' },
} as const
