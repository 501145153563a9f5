/**
 * Comments that were begun and not sent, by person and issue, in the memory of this tab: they outlive a look at another
 * issue and a session that ran out, but neither the tab nor a log-out.
 */
const drafts = new Map<string, string>()

const placeOf = (userId: string | undefined, issueId: string): string => `${userId} ${issueId}`

export const draftOf = (userId: string | undefined, issueId: string): string =>
  drafts.get(placeOf(userId, issueId)) ?? ''

export function keepDraft(userId: string | undefined, issueId: string, text: string): void {
  if (text === '') drafts.delete(placeOf(userId, issueId))
  else drafts.set(placeOf(userId, issueId), text)
}

export const forgetDrafts = (): void => drafts.clear()

/** What is left of a text once the comment it was sent as is there: what was typed since. */
export const unsent = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length).trimStart() : text
