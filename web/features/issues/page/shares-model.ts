import type { Share } from '../../../api/issue-event-queries.ts'

/** Notable values among the common values of events. Pure. */

export type SharesOfKey = { key: string; values: readonly Share[] }

/** Values by key: keys in order of their most notable value, the values of a key by their number of events. */
export function sharesByKey(shares: readonly Share[]): readonly SharesOfKey[] {
  const keys = new Map<string, Share[]>()
  for (const share of shares) keys.set(share.key, [...(keys.get(share.key) ?? []), share])
  return [...keys].map(([key, values]) => ({ key, values: values.toSorted((a, b) => b.share - a.share) }))
}

/** Whether a value is at least 1.5 times as frequent as in other issues, in enough events. */
export const isNotable = ({ lift, share, count }: Pick<Share, 'lift' | 'share' | 'count'>): boolean =>
  lift !== null && lift >= 1.5 && share >= 0.1 && count >= 3

/** `71 %`; `<1 %` for less than one percent that is not zero. */
export function wholePercentText(share: number): string {
  const percent = Math.round(share * 100)
  return `${percent === 0 && share > 0 ? '<1' : percent}\u202f%`
}
