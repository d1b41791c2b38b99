// The start page: sends what earlier tabs could not.
import { sendLeftovers } from "./api.js";

sendLeftovers();
