import { MAX_NEW_ENTRIES, type AuditEntry, type AuditFilters } from '../../../api/audit-queries.ts'
import { formatCount, formatDay } from '../../../ui/format.ts'
import { auditTexts } from './texts.ts'

/** Texts of an entry of the audit log. Pure. */

/** Who did it: the e-mail address, or what kind of actor it was. */
export const actorName = ({ type, id, email }: AuditEntry['actor']): string =>
  email ?? (type === 'user' && id === null ? auditTexts.unknownActor : auditTexts.actorTypes[type])

/** The target of an action: its name at the time, else its id. */
export const targetName = ({ label, id, type }: AuditEntry['target']): string | null => label ?? id ?? type

/** How often a refusal happened within its minute; null for one event. */
export function repeatCountText({ meta }: Pick<AuditEntry, 'meta'>): string | null {
  const { count } = meta
  return typeof count === 'number' && count > 1 ? auditTexts.times(formatCount(count)) : null
}

/** The sentence that a change left, if any. */
export const auditSentence = ({ meta }: Pick<AuditEntry, 'meta'>): string | null => {
  const { reason } = meta
  return typeof reason === 'string' && reason.includes(' ') ? reason : null
}

export const filterWords = ({ action, actor, target, from, to }: AuditFilters): string[] => {
  const { words } = auditTexts
  return [
    ...(action === undefined ? [] : [words.action(action)]),
    ...(actor === undefined ? [] : [words.actor(actor)]),
    ...(target === undefined ? [] : [words.target(target)]),
    ...(from === undefined ? [] : [words.from(formatDay(from, Date.now(), 'utc'))]),
    ...(to === undefined ? [] : [words.to(formatDay(to, Date.now(), 'utc'))]),
  ]
}

/** The label of the pill for entries after the newest that is shown; null if there are none. */
export function freshLabel(newest: readonly number[], shownSeq: number): string | null {
  const fresh = newest.filter((seq) => seq > shownSeq).length
  if (fresh === 0) return null
  return fresh >= MAX_NEW_ENTRIES ? auditTexts.freshMany(fresh) : auditTexts.fresh(fresh)
}

/** Whether the text is an action, or the beginning of one before `*`. */
export const isActionFilter = (text: string): boolean => /^(?:[a-z0-9_.]{1,100}\*?|\*)$/.test(text)
