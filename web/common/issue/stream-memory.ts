import { IssuesSearch } from '../../address/search.ts'

/** The stream somebody came from, so that an issue knows its neighbours and the way back, also after a reload. */

const KEY = 'faultline.stream'

export function rememberStream(search: IssuesSearch): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(search))
  } catch {
    // Storage switched off: an issue has no neighbours then.
  }
}

/** Null when no stream was looked at in this tab. */
export function recalledStream(): IssuesSearch | null {
  try {
    const text = sessionStorage.getItem(KEY)
    return text === null ? null : IssuesSearch.parse(JSON.parse(text))
  } catch {
    return null
  }
}
