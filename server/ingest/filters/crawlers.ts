/** Names of robots. `bot` must end a name and not follow `cu`, because CUBOT is a brand of phones. */
const ROBOT =
  /(?<!cu)bot(?:[/;:,)\s_-]|$)|crawl|spider|slurp|mediapartners|facebookexternalhit|facebookcatalog|meta-external|feedfetcher|google-read-aloud|google-inspectiontool|googleother|lighthouse|pagespeed|bingpreview|whatsapp\/|embedly|quora link preview|pinterest\/\d|ia_archiver|archive\.org|bytespider|yandex(?:images|metrika|direct|accessibility|renderresources)|duckduckgo-favicons|prerender|monitoring|pingdom|uptime|statuscake|site24x7|validator|headless|phantomjs|wget\/|curl\/|scrapy|python-requests|go-http-client|okhttp-probe/i

const MAX_CHARACTERS = 512

/** Whether a user agent names a search engine, a link preview or another robot. */
export const isCrawler = (userAgent: string): boolean => ROBOT.test(userAgent.slice(0, MAX_CHARACTERS))
