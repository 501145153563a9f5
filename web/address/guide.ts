/** The documentation, which the service serves outside the dashboard. */
export const GUIDE_PATH = '/docs/guide'
