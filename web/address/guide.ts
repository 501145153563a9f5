/** The documentation, which the service serves outside the dashboard: a page by its name, with or without an anchor. */
export const guidePath = (page = ''): string => (page === '' ? '/docs/guide' : `/docs/guide/${page}`)
