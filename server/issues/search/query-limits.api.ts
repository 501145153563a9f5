/** Characters a query of issues may have. */
export const MOST_QUERY_CHARACTERS = 10_000
