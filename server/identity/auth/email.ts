/** The stored form of an address: one account per address, in any case. */
export const foldEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase()
