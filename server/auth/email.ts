/** One account per address, in whatever case it is typed. */
export const foldEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase()
