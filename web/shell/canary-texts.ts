/** Texts of the banner of a failing end-to-end test, which are loaded with it. */
export const canaryTexts = { alertsFail: 'Alerts may not arrive.' } as const
