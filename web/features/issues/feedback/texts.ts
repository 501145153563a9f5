import { counted, formatCount } from '../../../ui/format.ts'
import type { FeedbackDetail } from '../../../api/feedback-queries.ts'

type Status = FeedbackDetail['status']

/** Counts of the API end here. */
const COUNT_CAP = 1_000

/** Texts of the inbox of feedback. */
export const feedbackTexts = {
  title: 'Feedback',
  what: 'Feedback',
  views: 'Views',
  view: { inbox: 'Inbox', mine: 'Mine', resolved: 'Resolved', spam: 'Spam' },
  count: (count: number) => (count >= COUNT_CAP ? `${formatCount(COUNT_CAP)}+` : formatCount(count)),
  search: 'Search feedback',
  searchHint: 'Words, e-mail, release',
  partial: 'Only the newest 10,000 messages were searched.',
  messages: 'Messages',
  total: (count: number, isCapped: boolean, unread: number) =>
    `${isCapped ? `${formatCount(count)}+ messages` : counted(count, 'message', 'messages')}${unread === 0 ? '' : `, ${feedbackTexts.count(unread)} not read`}`,
  showMore: 'Show more',
  unread: 'Not read: ',
  screenshot: 'Screenshot',
  file: (count: number) => counted(count, 'file', 'files'),
  replied: 'Answered',
  anonymous: 'Anonymous',
  aboutIssue: (shortId: string) => `Messages about ${shortId}`,
  toIssue: 'Back to the issue',
  showAll: 'Show the inbox',

  emptyInbox: 'No open messages',
  emptyInboxText: 'Every message is resolved, or none has arrived yet.',
  setUp: 'No messages yet',
  setUpText:
    'Messages come from the feedback widget of the SDKs, from showReportDialog() and from captureFeedback(). They arrive here with the page, the release and, after an error, its issue.',
  emptyView: {
    mine: 'No message is assigned to you',
    resolved: 'No message is resolved',
    spam: 'No spam',
    all: 'No messages',
  },
  emptySearch: 'No message matches',
  emptySearchText: (q: string) => `Nothing in this view has “${q}”.`,
  clearSearch: 'Clear the search',

  next: 'Next message',
  previous: 'Previous message',
  back: 'All messages',
  from: (name: string) => `From ${name}`,
  missing: 'This message does not exist',
  missingText: 'It was deleted with its issue or its author’s data, or it is older than the retention of its project.',

  resolve: 'Resolve',
  reopen: 'Reopen',
  spam: 'Spam',
  notSpam: 'Not spam',
  assign: 'Assign',
  reply: 'Reply',
  moved: {
    open: 'The message is open again.',
    resolved: 'The message is resolved.',
    spam: 'The message is marked as spam.',
  } satisfies Record<Status, string>,
  assigned: (name: string | null) =>
    name === null ? 'The message has no assignee now.' : `${name} has the message now.`,
  notChanged: 'Could not change the message.',

  through: (source: string | null) =>
    source === null
      ? ''
      : source === 'user_report' || source === 'crash_report_modal'
        ? 'through the report dialog'
        : source.includes('widget')
          ? 'through the feedback widget'
          : `through ${source}`,
  context: 'Context',
  fields: {
    url: 'Page',
    view: 'Screen',
    project: 'Project',
    release: 'Release',
    browser: 'Browser',
    os: 'System',
    device: 'Device',
    language: 'Language',
    user: 'User',
    event: 'Event',
    trace: 'Trace',
    replay: 'Replay',
  },
  files: 'Files',
  downloadFailed: 'Could not download the file. Log in again.',
  linkedIssue: 'Linked issue',
  linked: (events: string, users: string) => `${events}, ${users}, last`,
  because: 'Linked because the message names an event of this issue.',
  becauseAt: (before: string) =>
    `Linked because the message names an event of this issue, which happened ${before} before.`,
  others: (count: number) =>
    count === 0 ? '' : `${counted(count, 'more message', 'more messages')} about it in 7 days.`,
  showThem: 'Show them',

  activity: 'Activity',
  received: 'Received',
  receivedLinked: 'Received and linked to',
  faultline: 'Faultline',
  someone: 'A former member',
  did: {
    status: (to: string | null) =>
      to === 'resolved' ? 'resolved it' : to === 'spam' ? 'marked it as spam' : 'opened it again',
    assigned: (to: string | null) => (to === null ? 'removed the assignee' : `assigned it to ${to}`),
    notified: (to: string | null) => `notified ${to ?? 'the author'} that the issue is resolved`,
    notNotified: 'could not tell the author that the issue is resolved.',
    note: 'wrote a note',
    reply: (to: string | null) => `replied to ${to ?? 'the author'}`,
  },

  kind: 'Kind',
  byMail: 'Reply by e-mail',
  note: 'Note',
  replyTo: (address: string) => `Reply to ${address}`,
  writeReply: (address: string) => `This text is mailed to ${address}`,
  writeNote: 'Write a note for the team',
  noReply: {
    no_address: 'This person left no address. Only a note is possible.',
    bad_address: 'This person left no usable address. Only a note is possible.',
  },
  inSpam: 'Take the message out of spam to reply.',
  notify: (shortId: string) => `Tell this person when ${shortId} is resolved`,
  willNotify: (address: string, shortId: string) => `${address} gets one mail when ${shortId} is resolved.`,
  stopNotice: 'Do not tell',
  send: 'Send',
  save: 'Add note',
  sent: (address: string) => `The reply is on its way to ${address}.`,
  noted: 'The note is added.',
  notSent: 'Could not send the reply.',
  notNoted: 'Could not add the note.',
} as const
