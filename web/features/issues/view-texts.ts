/** Words of saved views. */

export const viewTexts = {
  menu: 'Views',
  views: 'Saved views',
  yours: 'Yours',
  shared: 'Shared with everybody',
  sharedOne: 'shared',
  changed: 'changed',
  none: 'No saved views yet',
  save: 'Save view…',
  saveChanges: (name: string) => `Save changes to ${name}`,
  edit: 'Rename or share…',
  delete: 'Delete view',
  saveTitle: 'Save this view',
  editTitle: 'Change the view',
  name: 'Name',
  nameHint: 'Keeps the search, filters, project, range and sort.',
  share: 'Share with everybody in the organisation',
  cancel: 'Cancel',
  confirm: 'Save view',
  saved: (name: string) => `${name} saved`,
  deleted: (name: string) => `${name} deleted`,
  deleteFailed: 'Could not delete the view.',
  notYours: 'Its owner and admins may change it',

  help: 'How to search',
} as const
