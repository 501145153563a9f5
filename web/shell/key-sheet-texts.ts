/** Texts of the sheet of shortcuts, which are loaded when it opens. */
export const keySheetTexts = { off: 'Single-key shortcuts are turned off in Appearance.' } as const
