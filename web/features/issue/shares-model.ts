import type { Share } from '../../api/issue-event-queries.ts'

/** What stands out among the values events share. Pure. */

export type SharesOfKey = { key: string; values: readonly Share[] }

/** Values by key: keys in the order of their most notable value, values of one key by how many events have them. */
export function sharesByKey(shares: readonly Share[]): readonly SharesOfKey[] {
  const keys = new Map<string, Share[]>()
  for (const share of shares) keys.set(share.key, [...(keys.get(share.key) ?? []), share])
  return [...keys].map(([key, values]) => ({ key, values: values.toSorted((a, b) => b.share - a.share) }))
}

/** At least half as often again as elsewhere, and not of a handful. */
export const isNotable = ({ lift, share, count }: Pick<Share, 'lift' | 'share' | 'count'>): boolean =>
  lift !== null && lift >= 1.5 && share >= 0.1 && count >= 3

/** `71 %`; `<1 %` for the little that is not nothing. */
export function percentOf(share: number): string {
  const percent = Math.round(share * 100)
  return `${percent === 0 && share > 0 ? '<1' : percent}\u202f%`
}
