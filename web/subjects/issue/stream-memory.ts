import { IssuesSearch } from '../../address/search.ts'

/** The last stream of this tab, so that an issue page knows its neighbours and the way back, also after a reload. */

const KEY = 'faultline.stream'

export function rememberStream(search: IssuesSearch): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(search))
  } catch {
    // Without storage, an issue has no neighbours.
  }
}

/** The last stream; null if this tab has shown none. */
export function recalledStream(): IssuesSearch | null {
  try {
    const text = sessionStorage.getItem(KEY)
    return text === null ? null : IssuesSearch.parse(JSON.parse(text))
  } catch {
    return null
  }
}
