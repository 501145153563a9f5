/** Texts of an event's attachments, feedback and native crash. */

const whole = new Intl.NumberFormat('en-GB')

export const fileTexts = {
  attachments: 'Attachments',
  refused: 'Refused attachments',
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
  noPreview: 'Your browser cannot show this image. Download the file instead.',

  feedback: 'User feedback',
  feedbackCount: (count: number, max: number) => (count >= max ? `newest ${whole.format(count)}` : whole.format(count)),
  anonymous: 'Anonymous',
  onThisEvent: 'about this event',

  crash: 'Native crash',
  reason: 'Reason',
  address: 'Address',
  thread: 'Thread',
  where: 'Module',
  processor: 'Processor',
  process: 'Process',
  unread: 'Could not read the minidump. Download it under Attachments.',
  notRead: 'Not read',
  module: 'Module',
  version: 'Version',
  debugId: 'Debug ID',
  loadedAt: 'Loaded at',
  loaded: 'Loaded images',
} as const
