import type { IssueStatus } from './issue.api.ts'

/** Sentences for the activity of an issue. Pure. */

/** Returns `19 Nov 2026 14:07 UTC`, for stored sentences. */
export function minuteText(time: Date): string {
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
  const two = (n: number) => String(n).padStart(2, '0')
  return `${time.getUTCDate()} ${months[time.getUTCMonth()]} ${time.getUTCFullYear()} ${two(time.getUTCHours())}:${two(time.getUTCMinutes())} UTC`
}

/** Returns the activity entry of a status set by a member: `Ada resolved this issue.` */
export function statusSentence(name: string, from: IssueStatus, to: IssueStatus): string {
  switch (to) {
    case 'resolved':
      return `${name} resolved this issue.`
    case 'ignored':
      return `${name} ignored this issue.`
    case 'unresolved':
      // Regressed and escalated issues are open already.
      return from === 'resolved' || from === 'ignored'
        ? `${name} reopened this issue.`
        : `${name} marked this issue as unresolved.`
    case 'regressed':
      return `${name} marked this issue as regressed.`
    case 'escalated':
      return `${name} escalated this issue.`
  }
}
