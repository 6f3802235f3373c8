import { BROWSER_MAP, parse } from 'bowser';
import type { Attributes, ExtractedValue, Extraction, Extractor } from './extraction.ts';

/** Characters of an agent that are read: the library's patterns may take quadratic time. Real agents have 60 to 250. */
export const AGENT_LENGTH_MAX = 512;
/** Agents that are remembered, of the newest: at most 1 KiB each. */
export const AGENTS_MAX = 1_000;

const BOT = 'bot';
const BROWSERS = new Set(Object.values(BROWSER_MAP));
/** Signs of crawlers that the library does not know by name; `+http` is where they say who they are. */
const CRAWLER = /bot[/;)-]|crawler|spider|\+https?:/i;
/** The name that a crawler has in its comment, and the first product of other agents. Source: RFC 9110 10.1.5. */
const CRAWLER_NAME = /\(compatible; ([\w.\- ]{1,64})(?:\/([\w.-]{1,32}))?[;)]/;
const FIRST_PRODUCT = /^([\w.\-!#$%&'*+^`|~]{1,64})(?:\/([\w.\-+]{1,32}))?/;

/** Reader of an agent, which is not empty and has at most AGENT_LENGTH_MAX characters. */
export type AgentParser = typeof parse;

/**
 * Finds in a user agent `browser.family`, `browser.version`, `os.family`, `os.version`, `device.family` and
 * `device.category` (desktop, mobile, tablet, tv, bot), each if it is known. Remembers the newest AGENTS_MAX agents,
 * since they repeat.
 */
export class UserAgentExtractor implements Extractor {
  readonly #parser: AgentParser;
  readonly #known = new Map<string, Attributes>();

  /** `parser` is for tests. */
  constructor(parser: AgentParser = parse) {
    this.#parser = parser;
  }

  extract(text: string): Extraction | undefined {
    const cut = text.slice(0, AGENT_LENGTH_MAX);
    let attributes = this.#known.get(cut);
    if (attributes === undefined) {
      // A part of a text keeps all of the text in memory, so what is remembered is a copy.
      const agent = Buffer.from(cut, 'utf16le').toString('utf16le');
      attributes = this.#read(agent.toWellFormed().trim());
      this.#remember(agent, attributes);
    }
    return attributes.size === 0 ? undefined : { attributes: new Map(attributes) };
  }

  #remember(agent: string, attributes: Attributes): void {
    if (this.#known.size >= AGENTS_MAX) {
      const oldest = this.#known.keys().next();
      if (!oldest.done) this.#known.delete(oldest.value);
    }
    this.#known.set(agent, attributes);
  }

  #read(agent: string): Attributes {
    const attributes = new Map<string, ExtractedValue>();
    if (agent === '' || agent === '-') return attributes;
    const set = (name: string, value: string | undefined): void => {
      if (value !== undefined && value !== '') attributes.set(name, value);
    };
    const { browser, os, platform } = this.#parser(agent);
    const isCrawler = platform.type === BOT || CRAWLER.test(agent);
    if (browser.name !== undefined && BROWSERS.has(browser.name)) {
      set('browser.family', browser.name);
      set('browser.version', browser.version);
    } else {
      const product = (isCrawler ? CRAWLER_NAME.exec(agent) : null) ?? FIRST_PRODUCT.exec(agent);
      set('browser.family', product?.[1]);
      set('browser.version', product?.[2]);
    }
    set('os.family', os.name);
    // Of Windows the name is the version that people know: `10`, not `NT 10.0`.
    set('os.version', os.name === 'Windows' ? (os.versionName ?? os.version) : os.version);
    set('device.family', platform.model ?? platform.vendor);
    set('device.category', isCrawler ? BOT : platform.type);
    return attributes;
  }
}
