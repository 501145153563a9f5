import { guidePath } from '../address/guide.ts'

const TEXT = 'Read more in the documentation'

/** Leads from an empty state to the page of the documentation that says how to fill it. */
export const GuideLink = ({ page }: { page: string }) => <a href={guidePath(page)}>{TEXT}</a>
