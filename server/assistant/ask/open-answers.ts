import { memberBehind, type OrgActor } from '../../platform/context/actor.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import { rateLimited } from '../../platform/kernel/errors.ts'

/** Answers that are being written at once, in this process. */
export const MAX_ANSWERS = { member: 3, org: 20, all: 200 } as const

const open = perApp(() => new Map<string, number>())

/**
 * Counts an answer of a member and of the organisation.
 * @returns a function that ends it
 * @throws AppError rate_limited when there are too many
 */
export function openAnswer(app: App, actor: OrgActor): () => void {
  const counts = open(app)
  const keys = [
    [`member ${memberBehind(actor)?.userId ?? ''} ${actor.orgId}`, MAX_ANSWERS.member, 'You have'],
    [`org ${actor.orgId}`, MAX_ANSWERS.org, 'Your organisation has'],
    ['all', MAX_ANSWERS.all, 'This service has'],
  ] as const
  for (const [key, most, who] of keys)
    if ((counts.get(key) ?? 0) >= most)
      throw rateLimited(`${who} ${most} questions that are being answered. Wait until one of them is.`, 5)
  for (const [key] of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return () => {
    for (const [key] of keys) {
      const left = (counts.get(key) ?? 1) - 1
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    }
  }
}
