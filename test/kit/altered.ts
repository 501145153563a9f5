/** A sealed text or token whose last byte is another one. A fixed ending would be the same one now and then. */
export const altered = (text: string): string => `${text.slice(0, -2)}${text.endsWith('AA') ? 'BB' : 'AA'}`
