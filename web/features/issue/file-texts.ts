/** Words of what came with an event: files, feedback, native crashes. */

const whole = new Intl.NumberFormat('en-GB')

export const fileTexts = {
  attachments: 'Attachments',
  count: (count: number) => whole.format(count),
  types: {
    'event.minidump': 'Minidump',
    'event.applecrashreport': 'Apple crash report',
    'event.view_hierarchy': 'View hierarchy',
    'unreal.context': 'Unreal context',
    'unreal.logs': 'Unreal log',
  } as Readonly<Record<string, string>>,
  screenshot: 'Screenshot',
  image: 'Image',
  file: 'File',
  download: (name: string) => `Download ${name}`,
  downloadShort: 'Download',
  downloadFailed: 'Could not download the file.',
  preview: 'Preview',
  hidePreview: 'Hide preview',
  previewOf: (name: string) => `Preview ${name}`,
  noPreview: 'This is not an image a browser can show. It can be downloaded.',

  feedback: 'User feedback',
  feedbackCount: (count: number, most: number) =>
    count >= most ? `newest ${whole.format(count)}` : whole.format(count),
  anonymous: 'Somebody',
  onThisEvent: 'about this event',

  crash: 'Native crash',
  reason: 'Reason',
  address: 'Address',
  thread: 'Thread',
  where: 'In',
  processor: 'Processor',
  process: 'Process',
  unread: 'The minidump cannot be read. It can be downloaded under Attachments.',
  notRead: 'Left out',
  module: 'Module',
  version: 'Version',
  debugId: 'Debug id',
  loadedAt: 'Loaded at',
  loaded: 'Loaded images',
} as const
