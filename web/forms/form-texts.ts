/** Texts of forms, of secrets that are shown once and of passwords. */
export const formTexts = {
  unsaved: {
    mark: 'Unsaved changes',
    discard: 'Discard',
    keys: 'Save changes',
    title: 'Leave without saving?',
    lost: 'Your unsaved changes will be lost.',
    stay: 'Stay',
    leave: 'Leave',
  },
  secretBox: {
    copied: 'Copied',
    stored: 'I have stored it',
    leaveTitle: 'Leave without storing it?',
    leaveNow: 'Leave',
    stay: 'Stay',
  },
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  passwordHint: 'At least 8 characters. Longer is better than complicated.',
  strength: {
    short: (missing: number) => `${missing} more ${missing === 1 ? 'character' : 'characters'} needed.`,
    weak: 'Weak: easy to guess.',
    fair: 'Fair: add a few words to make it strong.',
    strong: 'Strong.',
  },
  regions: {
    'eu-central-1': 'Europe, eu-central-1',
    'us-east-1': 'United States, us-east-1',
    'af-south-1': 'Africa, af-south-1',
  },
} as const
