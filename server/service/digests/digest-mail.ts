import { countedWord, listed, numberText } from '../../platform/kernel/value-text.ts'
import type { MailContent } from '../../platform/mails/mail-content.ts'

/** The text of a weekly digest (pure). */

export type ProjectWeek = {
  readonly id: string
  readonly name: string
  readonly newIssues: number
  readonly regressed: number
  readonly events: number
  readonly eventsBefore: number | null
  /** Shares of sessions; null without sessions. */
  readonly crashFree: number | null
  readonly crashFreeBefore: number | null
  /** The most frequent issues. */
  readonly issues: readonly {
    readonly id: string
    readonly shortId: string
    readonly title: string
    readonly events: number
  }[]
}

/** Issues of all projects together that the mail links. */
const MAX_ISSUES = 8
const MAX_TITLE = 90

type Organisation = { readonly name: string; readonly publicUrl: string }

/** Without the receiver and the link that unsubscribes. @param weeks most events first */
export function digestMail(
  { name, publicUrl }: Organisation,
  weeks: readonly ProjectWeek[],
): Omit<MailContent, 'name'> {
  const [busy, quiet] = [weeks.filter((week) => !isQuiet(week)), weeks.filter(isQuiet)]
  const sum = (of: (week: ProjectWeek) => number): number => weeks.reduce((total, week) => total + of(week), 0)
  const added = sum(({ newIssues }) => newIssues)
  const regressed = sum((week) => week.regressed)
  const issues = weeks.flatMap((week) => week.issues).toSorted((a, b) => b.events - a.events)
  return {
    subject: `[${name}] Your week: ${added === 0 ? 'no new issue' : countedWord(added, 'new issue')}`,
    paragraphs: [
      busy.length === 0
        ? 'Nothing happened in your projects in the last seven days.'
        : `In the last seven days: ${countedWord(added, 'new issue')}, ${countedWord(regressed, 'regressed issue')} and ${countedWord(
            sum(({ events }) => events),
            'event',
          )}.`,
      ...(busy.length === 0 || quiet.length === 0 ? [] : [`No events: ${listed(quiet.map((week) => week.name))}.`]),
    ],
    details: busy.map((week) => [week.name, weekText(week)] as const),
    action: { label: 'Open issues', url: `${publicUrl}/issues?range=7d` },
    links: issues.slice(0, MAX_ISSUES).map(({ id, shortId, title, events }) => ({
      label: `${shortId} ${cut(title)}, ${countedWord(events, 'event')}`,
      url: `${publicUrl}/issues/${id}`,
    })),
    reason: `You receive this mail on Mondays because you asked for the weekly digest of ${name}.`,
  }
}

const isQuiet = ({ events, newIssues, regressed }: ProjectWeek): boolean =>
  events === 0 && newIssues === 0 && regressed === 0

function weekText({ newIssues, regressed, events, eventsBefore, crashFree, crashFreeBefore }: ProjectWeek): string {
  const change =
    eventsBefore === null || eventsBefore === 0 ? '' : ` (${signed((events / eventsBefore - 1) * 100, 0)} %)`
  return [
    `${numberText(newIssues)} new`,
    `${numberText(regressed)} regressed`,
    `${countedWord(events, 'event')}${change}`,
    ...(crashFree === null
      ? []
      : [
          `crash-free ${(crashFree * 100).toFixed(2)} %${
            crashFreeBefore === null ? '' : ` (${signed((crashFree - crashFreeBefore) * 100, 2)})`
          }`,
        ]),
  ].join(', ')
}

const signed = (value: number, digits: number): string => {
  const text = value.toFixed(digits)
  return Number(text) === 0 ? `±${text.replace('-', '')}` : value > 0 ? `+${text}` : text
}

const cut = (title: string): string =>
  title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1).toWellFormed()}…` : title
