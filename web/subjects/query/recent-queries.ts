/** The queries that were searched in this tab, newest first: they may hold addresses of users, so they go with the tab. */

const MOST = 6
const keyOf = (list: string): string => `faultline.queries.${list}`

/** @param list name of the list that is searched, such as `issues` */
export function readQueries(list: string): string[] {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(keyOf(list)) ?? '[]')
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, MOST) : []
  } catch {
    return []
  }
}

export function addQuery(list: string, query: string): void {
  const queries = [query, ...readQueries(list).filter((one) => one !== query)].slice(0, MOST)
  try {
    sessionStorage.setItem(keyOf(list), JSON.stringify(queries))
  } catch {
    // Without storage, no recent queries are suggested.
  }
}
