/** Unsent comments by user and issue, in memory: kept when the session expires, lost on log-out or with the tab. */
const drafts = new Map<string, string>()

const placeOf = (userId: string | undefined, issueId: string): string => `${userId} ${issueId}`

export const readCommentDraft = (userId: string | undefined, issueId: string): string =>
  drafts.get(placeOf(userId, issueId)) ?? ''

export function keepDraft(userId: string | undefined, issueId: string, text: string): void {
  if (text === '') drafts.delete(placeOf(userId, issueId))
  else drafts.set(placeOf(userId, issueId), text)
}

export const forgetDrafts = (): void => drafts.clear()

/** The text that was typed after the comment was sent. */
export const unsent = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length).trimStart() : text
