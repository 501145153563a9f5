/** Texts of the code that connects an SDK. */
export const projectsTexts = {
  platforms: 'Platform',
  terminal: 'Terminal',
  copy: 'Copy',
  copySnippet: 'Copy the snippet',
  snippetCopied: 'Snippet copied',
} as const
